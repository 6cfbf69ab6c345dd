// `npm run build`: builds the web app; with --if-needed only when its sources have changed since, and with --if-possible
// not where its tools are missing: the service runs without it, and says how to get it.
import { buildWeb, canBuildWeb, webIsCurrent } from './build-web.ts'

const [ifNeeded, ifPossible] = ['--if-needed', '--if-possible'].map((flag) => process.argv.includes(flag))

if (!ifNeeded || !(await webIsCurrent())) {
  if (await canBuildWeb()) await buildWeb()
  else if (!ifPossible) {
    console.error('The tools that build the web app are missing. Run: npm ci && npm run build')
    process.exitCode = 1
  }
}
