import { describe, expect, it } from 'vitest';
import { limitsLine, whyNot, whyNotTogether } from './picked.ts';

const MIB = 1024 * 1024;
const file = (size: number, type = 'image/png') => ({ name: 'a', type, size });

describe('files that are to go with an input', () => {
  it('are refused one by one, with the name of the limit', () => {
    expect([whyNot(file(5 * MIB)), whyNot(file(32 * MIB, 'text/plain'))]).toEqual([null, null]);
    expect(whyNot(file(5 * MIB + 1))).toBe('5.0 MiB; an image has at most 5.0 MiB (ATTACHMENT_IMAGE_BYTES)');
    expect(whyNot(file(40 * MIB, ''))).toBe('40.0 MiB; a file has at most 32.0 MiB (ATTACHMENT_FILE_BYTES)');
    expect(whyNot(file(6 * MIB, 'image/svg+xml'))).toBeNull();
    expect(whyNot(file(0))).toBe('it is empty');
  });

  it('are refused together', () => {
    expect(whyNotTogether(Array.from({ length: 20 }, () => file(1)))).toBeNull();
    expect(whyNotTogether(Array.from({ length: 21 }, () => file(1)))).toContain('MAX_TURN_ATTACHMENTS');
    expect(whyNotTogether([file(5 * MIB), file(4 * MIB)])).toContain('ATTACHMENT_INPUT_IMAGE_BYTES');
    expect(whyNotTogether([file(5 * MIB), file(9 * MIB, 'text/plain')])).toBeNull();
  });

  it('are told their limits before', () => {
    expect(limitsLine).toBe('At most 20 files: images to 5.0 MiB each and 8.0 MiB together, others to 32.0 MiB.');
  });
});
