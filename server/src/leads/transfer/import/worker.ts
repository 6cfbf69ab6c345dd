import { type Loop, startLoop } from '../../../base/async/loop.ts'
import { type ImportDeps, runImports } from './run.ts'

const times = { firstAfterMs: 1_000, pauseMs: 1_000 }

/** Works on imports as they are started, here or on another node; one at a time. A stop lets a batch end. */
export function startImports(deps: ImportDeps): Loop {
  const stopping = new AbortController()
  const loop = startLoop(
    times,
    () => runImports(deps, stopping.signal),
    (error) => deps.log.error('imports failed', {}, error),
  )
  return {
    stop: () => {
      stopping.abort()
      return loop.stop()
    },
  }
}
