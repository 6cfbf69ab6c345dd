// Says again what customers say: PARLEY_URL=… PARLEY_API_KEY=… node echo-agent.js
import { ConflictError, Parley, WindowClosedError } from '@parley/client'

const parley = Parley.fromEnvironment()
const stopping = new AbortController()
process.once('SIGTERM', () => stopping.abort())

try {
  for await (const work of parley.agents.work(stopping)) {
    try {
      await work.answer(`You said: ${work.customerText}`)
    } catch (error) {
      // A person took over meanwhile, or it is too late for a text: not ours any more.
      if (!(error instanceof ConflictError || error instanceof WindowClosedError)) throw error
    }
  }
} catch (error) {
  if (!stopping.signal.aborted) throw error
}
