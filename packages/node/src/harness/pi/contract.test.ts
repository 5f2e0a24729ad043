import { describeHarnessContract } from '../contract.ts';
import { piHarness } from './index.ts';

describeHarnessContract(piHarness, `${import.meta.dirname}/fixtures`, {
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
  'stream-error': { outcome: 'error', failure: 'overloaded' },
  'too-long': { outcome: 'error', failure: 'context' },
  cut: { outcome: 'error', failure: 'network' },
  'clean-cut': { outcome: 'error', failure: 'protocol' },
  drop: { outcome: 'error', failure: 'network' },
  garbage: { outcome: 'error', failure: 'protocol' },
  hang: { outcome: 'error', failure: 'timeout' },
  'hang-before-answer': { outcome: 'error', failure: 'timeout' },
  'unknown-conversation': { outcome: 'error', failure: 'program' },
});
