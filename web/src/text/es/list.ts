import type { list as en } from '../en/list.ts'
import { filtering } from './filtering.ts'
import { leads } from './leads.ts'
import { views } from './views.ts'

export const list: typeof en = { filtering, leads, views }
