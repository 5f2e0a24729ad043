import { describeHarnessContract } from '../contract.ts';
import { codexHarness } from './index.ts';

describeHarnessContract(codexHarness, `${import.meta.dirname}/fixtures`, {
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
  // Codex says the same of an answer that ends early, an error inside the stream and garbage; the gateway knows which.
  'stream-error': { outcome: 'error', failure: 'protocol' },
  'clean-cut': { outcome: 'error', failure: 'protocol' },
  garbage: { outcome: 'error', failure: 'protocol' },
  'too-long': { outcome: 'error', failure: 'context' },
  cut: { outcome: 'error', failure: 'network' },
  drop: { outcome: 'error', failure: 'network' },
  hang: { outcome: 'error', failure: 'timeout' },
  'hang-before-answer': { outcome: 'interrupted' },
  'unknown-conversation': { outcome: 'error', failure: 'program' },
});
