import type { Injection } from '../injection.ts'
import { acting } from './acting.ts'
import { hidden } from './hidden.ts'
import { numbers } from './numbers.ts'
import { protocol } from './protocol.ts'
import { reading } from './reading.ts'
import { shape } from './shape.ts'
import { writing } from './writing.ts'

export const injections: readonly Injection[] = [
  ...reading,
  ...numbers,
  ...acting,
  ...writing,
  ...shape,
  ...hidden,
  ...protocol,
]
