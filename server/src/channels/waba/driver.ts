import type { WabaConnection } from '../connection/connection.ts'
import type { Driver } from '../driver.ts'
import { checkNumberAt } from './check-number.ts'
import type { Wire } from './exchange.ts'
import { fetchTemplatesAt } from './fetch-templates.ts'

export const wabaDriver = (wire: Wire): Driver<WabaConnection> => ({
  check: checkNumberAt(wire),
  fetchTemplates: fetchTemplatesAt(wire),
})
