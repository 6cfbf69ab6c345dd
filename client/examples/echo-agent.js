// Repeats what customers say: PARLEY_URL=… PARLEY_API_KEY=… node echo-agent.js
import { ConflictError, Parley, WindowClosedError } from '@parley/client'

const parley = Parley.fromEnvironment()

for await (const work of parley.agents.work()) {
  if (work.customerText === '') continue
  try {
    await work.answer(`You said: ${work.customerText}`)
  } catch (error) {
    // A person has taken over, the customer has written again (it comes as new work), or the 24-hour window is closed.
    if (!(error instanceof ConflictError || error instanceof WindowClosedError)) throw error
  }
}
