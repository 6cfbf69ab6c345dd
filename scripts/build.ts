// `npm run build`: builds the web app. `--if-needed` builds only after its sources have changed. `--if-possible` skips
// the build if its tools are missing: the service runs without the app and says how to build it.
import { buildWeb, canBuildWeb, webIsCurrent } from './build-web.ts'

const [ifNeeded, ifPossible] = ['--if-needed', '--if-possible'].map((flag) => process.argv.includes(flag))

if (!ifNeeded || !webIsCurrent()) {
  if (await canBuildWeb()) await buildWeb()
  else if (!ifPossible) {
    console.error('The build tools of the web app are missing. Run: npm ci && npm run build')
    process.exitCode = 1
  }
}
