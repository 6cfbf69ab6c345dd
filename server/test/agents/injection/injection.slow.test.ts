import { facesFor } from './injection.ts'
import { injections } from './injections/all.ts'
import { testInjections } from './try-injection.ts'

testInjections(injections.flatMap((one) => facesFor(one).map((face) => [one, face] as const)))
