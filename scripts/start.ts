// `npm start`: builds the web app if its sources have changed and its tools are installed, then runs the service in
// this process.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { webIsCurrent } from './build-web.ts'

if (!webIsCurrent()) {
  // In a process of its own, because the tools would stay in memory.
  const build = fileURLToPath(new URL('build.ts', import.meta.url))
  const { status } = spawnSync(process.execPath, [build, '--if-possible'], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
process.argv.splice(2, 0, 'serve')
await import('../server/src/main.ts')
