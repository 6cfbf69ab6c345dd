import { filtering } from './filtering.ts'
import { leads } from './leads.ts'
import { views } from './views.ts'

/** What the list of leads says, which comes without what its panels and the other pages say. */
export const list = { filtering, leads, views }
