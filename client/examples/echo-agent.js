// Says again what customers say: PARLEY_URL=… PARLEY_API_KEY=… node echo-agent.js
import { Parley } from '@parley/client'

const parley = Parley.fromEnvironment()
const { owner, workspace } = await parley.agents.whoAmI()
console.log(`${owner} works for ${workspace.name}`)
