import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { glob, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { buildWidget } from '../web/vite/widget.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const web = join(root, 'web')
const stamp = join(web, 'dist', 'built-from')

/** Builds the app unless web/dist was built from the current sources. */
export async function buildWebIfNeeded(): Promise<void> {
  if (!webIsCurrent()) await buildWeb()
}

/** Synchronous, because `npm start` waits for it and does nothing else. */
export const webIsCurrent = (): boolean => existsSync(stamp) && readFileSync(stamp, 'utf8') === sourcesDigest()

/** Returns whether the build tools are installed; without development dependencies they are not. */
export const canBuildWeb = (): Promise<boolean> =>
  import('vite').then(
    () => true,
    () => false,
  )

export async function buildWeb(): Promise<void> {
  const digest = sourcesDigest()
  const vite = await import('vite')
  console.log('Building the web app …')
  await vite.build({ root: web, configFile: join(web, 'vite.config.ts'), logLevel: 'warn' })
  await buildWidget(vite, web)
  await compressAll()
  await writeFile(stamp, digest)
}

function sourcesDigest(): string {
  const hash = createHash('sha256')
  const sources = globSync('web/{index.html,vite.config.ts,vite/*.ts,public/*,src/**/*.*}', { cwd: root })
  for (const file of ['package-lock.json', ...sources].sort()) hash.update(file).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

// Compresses once, at the highest level; the server sends these bytes unchanged.
async function compressAll(): Promise<void> {
  const [shrink, zip] = [promisify(brotliCompress), promisify(gzip)]
  for await (const file of glob('dist/assets/*.{js,css,svg}', { cwd: web })) {
    const path = join(web, file)
    const bytes = await readFile(path)
    const brotli = await shrink(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } })
    await Promise.all([writeFile(`${path}.br`, brotli), writeFile(`${path}.gz`, await zip(bytes, { level: 9 }))])
  }
}
