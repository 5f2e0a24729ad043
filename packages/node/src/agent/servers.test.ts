import { OrreryError, type AgentSource, type AgentView } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { refuseServers } from './servers.ts';

const servers = { tracker: { projects: ['shop'] }, other: { projects: [] } };
const refusal = (source: AgentSource, mcp: AgentView['mcp'], project: string | null = 'shop') => {
  try {
    refuseServers({ name: 'one', source, mcp } as AgentView, {
      servers,
      project: project === null ? null : { id: `id-of-${project}`, name: project },
    });
    return null;
  } catch (thrown) {
    return thrown instanceof OrreryError ? [thrown.code, ...thrown.toLines()].join(' | ') : String(thrown);
  }
};
const named = (name: string): AgentView['mcp'] => [{ name, command: null }];

describe('MCP servers of an agent', () => {
  it('of the operator are for the agents of the user, and for those of projects that the operator lets', () => {
    expect([refusal('user', named('other'), null), refusal('user', named('tracker'), 'else')]).toEqual([null, null]);
    expect(refusal('project', named('tracker'))).toBeNull();
    expect(refusal('project', named('other'))).toBe(
      'refused_by_policy | The agent one names the MCP server other. | A file of a project names a server of the operator only where the operator lets that project. | Add "shop" to mcp.other.projects of the node: orrery config path',
    );
    expect(refusal('project', named('tracker'), 'else')).toContain('refused_by_policy');
  });
  it('that are not there are refused with what was meant; names of an object are none', () => {
    expect(refusal('user', named('trackr'))).toContain(
      'not_found | There is no MCP server trackr, which the agent one names. | Did you mean "tracker"?',
    );
    expect(refusal('user', named('constructor'))).toContain('not_found');
  });
  it('that are commands run within the walls of the environment, whoever wrote the file', () => {
    expect(refusal('project', [{ name: 'near', command: ['x'] }], 'else')).toBeNull();
  });
});
