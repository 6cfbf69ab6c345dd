import type { Texts } from '../index.ts'
import { charts } from './charts.ts'
import { common } from './common.ts'
import { home } from './home.ts'
import { keys } from './keys.ts'
import { profile } from './profile.ts'
import { settings } from './settings.ts'

export const pt: Texts = { charts, common, home, keys, profile, settings }
