import { type Loop, type Repeat, repeatAtPauses } from '../../../base/async/loop.ts'
import { watchImports } from './imports.ts'
import { type ImportDeps, runImports } from './run.ts'

const lookEveryMs = 1_000

/** Works on imports as they are started, here or on another node; one at a time. A stop lets a batch end. */
export function startImports({ repeat = repeatAtPauses, ...deps }: ImportDeps & { repeat?: Repeat }): Loop {
  const stopping = new AbortController()
  const watch = watchImports(deps)
  const loop = repeat(
    lookEveryMs,
    async () => (await watch.isDue()) && runImports(deps, stopping.signal),
    (error) => deps.log.error('imports failed', {}, error),
  )
  return {
    stop: () => {
      stopping.abort()
      return loop.stop()
    },
  }
}
