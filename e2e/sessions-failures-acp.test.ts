/** Everything that goes wrong in a conversation, with the real programs that speak the Agent Client Protocol. */
import { failuresOf } from './support/failure-suite.ts';
import { frailtiesOf } from './support/failure-table.ts';

failuresOf(frailtiesOf('acp'));
