import { charts } from './charts.ts'
import { common } from './common.ts'
import { home } from './home.ts'
import { keys } from './keys.ts'
import { profile } from './profile.ts'
import { settings } from './settings.ts'

/** The texts of each room of the app. The other languages have the same shape, which the compiler sees to. */
export const en = { charts, common, home, keys, profile, settings }
