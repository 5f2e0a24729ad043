// A reporter for test.sh: writes down each file whose report came whole, which is when its own summary, the last thing
// that it says, is here. A file that ends early with exit code 0 counts as passed with node's runner, whatever it left out.
import { appendFileSync } from 'node:fs'
import { basename } from 'node:path'

async function* whole(events) {
  for await (const { type, data } of events)
    // At once, not by what the runner writes at its end: it may leave before that is written.
    if (type === 'test:summary' && data.file && data.counts.tests > 0) appendFileSync(process.env.WHOLE_REPORTS, `${basename(data.file)}\n`)
  yield ''
}

// The runner takes a reporter by this name.
export { whole as default }
