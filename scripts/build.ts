// `npm run build`: builds the web app; with --if-needed only when its sources have changed since.
import { buildWeb, buildWebIfNeeded } from './build-web.ts'

await (process.argv.includes('--if-needed') ? buildWebIfNeeded() : buildWeb())
