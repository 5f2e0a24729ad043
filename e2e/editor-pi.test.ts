/** Orrery as the agent of an editor, with a program behind it that asks nothing. */
import { join } from 'node:path';
import { methods, type ContentBlock } from '@agentclientprotocol/sdk';
import { describe, expect, it } from 'vitest';
import { configFor, isThere, modelOfSuite, scriptsOf } from './support/agents.ts';
import { faultsOf, startEditor } from './support/editor.ts';
import { placeOfSuite } from './support/place.ts';
import { makeRepository } from './support/repository.ts';

describe.skipIf(!isThere('pi'))('an editor with Pi behind it', { timeout: 240_000 }, () => {
  const place = placeOfSuite();
  it('is told what Pi says and does, in the one mode that it has', async () => {
    const model = await modelOfSuite(
      scriptsOf({ pi: [{ write: { path: 'pi.txt', content: 'hello\n', fresh: true } }, { text: 'Done by Pi.' }] }),
    );
    place.configure(configFor(model, { harness: 'pi' }));
    await place.cli(['secret', 'set', 'test'], { input: 'made-up-provider-key' });
    await place.up();
    const repository = makeRepository(place, 'edited', {});
    const one = await startEditor(place, repository, { args: ['--mode', 'all'] });
    const { sessionId, modes } = await one.agent.request(methods.agent.session.new, { cwd: repository, mcpServers: [] });
    expect(modes?.availableModes.map(({ id }) => id)).toEqual(['all']);
    const prompt: ContentBlock[] = [{ type: 'text', text: 'Do it. [pi]' }];
    expect((await one.agent.request(methods.agent.session.prompt, { sessionId, prompt })).stopReason).toBe('end_turn');
    expect(one.said(sessionId)).toMatch(/Done by Pi\.$/);
    const diffs = one.updates(sessionId).flatMap((update) => (update.sessionUpdate === 'tool_call' ? update.content : []));
    expect(diffs).toEqual([{ type: 'diff', path: join(repository, 'pi.txt'), newText: 'hello\n' }]);
    expect(faultsOf(one.wire)).toEqual([]);
  });
});
