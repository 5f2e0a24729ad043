/** Everything that goes wrong in a conversation, with the real programs that have a protocol of their own. */
import { failuresOf } from './support/failure-suite.ts';
import { frailtiesOf } from './support/failure-table.ts';

failuresOf(frailtiesOf('own'));
