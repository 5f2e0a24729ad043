import { describe, expect, it } from 'vitest';
import { hunkText, readFilePatch } from './hunks.ts';

const head = ['diff --git a/f b/f', 'index 1..2 100644', '--- a/f', '+++ b/f'];
const first = ['@@ -1,2 +1,2 @@ inside', '-one', '+--- a/x', ' two', '\\ No newline at end of file'];
const second = ['@@ -10 +10,2 @@', '+@@ -1 +1 @@', ' ten'];
const patch = `${[...head, ...first, ...second].join('\n')}\n`;

describe('the patch of a file', () => {
  it('is read by its counts: lines that look like another beginning are lines', () => {
    expect(readFilePatch(patch)).toEqual({
      head,
      hunks: [
        { oldStart: 1, oldLines: 2, newStart: 1, newLines: 2, section: 'inside', lines: first.slice(1) },
        { oldStart: 10, oldLines: 1, newStart: 10, newLines: 2, section: '', lines: second.slice(1) },
      ],
    });
  });

  it('that was cut has the whole lines that came', () => {
    const cut = readFilePatch(patch.slice(0, -4));
    expect(cut.hunks.map(({ lines }) => lines)).toEqual([first.slice(1), second.slice(1, 2)]);
  });

  it('stands again as it was', () => {
    const { hunks } = readFilePatch(patch);
    expect(hunks.map(hunkText).join('')).toBe(
      `${[first[0]?.replace(' inside', ''), ...first.slice(1), '@@ -10,1 +10,2 @@', ...second.slice(1)].join('\n')}\n`,
    );
  });
});
