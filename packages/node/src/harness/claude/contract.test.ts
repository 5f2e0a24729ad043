import { describeHarnessContract } from '../contract.ts';
import { claudeHarness } from './index.ts';

describeHarnessContract(claudeHarness, `${import.meta.dirname}/fixtures`, {
  'turn-with-tools': { outcome: 'success', failure: null },
  'turn-with-tools.2': { outcome: 'success' },
  'cut-then-recovered': { outcome: 'success' },
  auth: { outcome: 'error', failure: 'auth' },
  credit: { outcome: 'error', failure: 'billing' },
  quota: { outcome: 'error', failure: 'billing' },
  'rate-limit': { outcome: 'error', failure: 'rate_limit' },
  'usage-limit': { outcome: 'limit', failure: 'usage_limit' },
  overloaded: { outcome: 'error', failure: 'overloaded' },
  server: { outcome: 'error', failure: 'overloaded' },
  // It asks again without streaming and reports that call; the gateway knows the first.
  'stream-error': { outcome: 'error', failure: 'network' },
  'too-long': { outcome: 'error', failure: 'context' },
  cut: { outcome: 'error', failure: 'network' },
  'clean-cut': { outcome: 'error', failure: 'network' },
  drop: { outcome: 'error', failure: 'network' },
  hang: { outcome: 'error', failure: 'timeout' },
  'hang-before-answer': { outcome: 'error', failure: 'timeout' },
  'unknown-conversation': { outcome: 'error', failure: 'program' },
  garbage: { outcome: 'error', failure: 'protocol' },
});
