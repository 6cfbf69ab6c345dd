import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { oncePerFile } from '../file-end.ts'
import { newFolder } from '../folder.ts'

export const root = fileURLToPath(new URL('../../../../', import.meta.url))
export const clientFolder = join(root, 'client')

const run = promisify(execFile)
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')

/** A folder of somebody who has installed the package: as it would be published, and nothing else. */
export const installedClient = oncePerFile(async (): Promise<string> => {
  const folder = await newFolder()
  const target = join(folder, 'node_modules', '@parley', 'client')
  await mkdir(target, { recursive: true })
  await run(process.execPath, [compiler, '-p', clientFolder, '--outDir', join(target, 'dist')])
  for (const name of ['package.json', 'README.md']) await cp(join(clientFolder, name), join(target, name))
  for (const name of ['examples', 'test']) await cp(join(clientFolder, name), join(folder, name), { recursive: true })
  // What an example says to install beside it.
  const other = join('node_modules', '@modelcontextprotocol')
  await symlink(join(root, other), join(folder, other))
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true }))
  return folder
})

/** What the strictest compiler has to say of the files, for a program that runs by Node. */
export async function complaints(folder: string, files: string[]): Promise<string> {
  const strict = ['--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes', '--noEmit', '--checkJs']
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules', '@types')]
  const modern = [
    '--target',
    'es2022',
    '--lib',
    'es2022,dom,dom.iterable',
    '--module',
    'nodenext',
    '--moduleResolution',
    'nodenext',
  ]
  const ran = run(process.execPath, [compiler, ...strict, ...types, ...modern, ...files], { cwd: folder })
  return ran.then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  )
}

/** What programs are run by: our Node, the oldest that the package is for where the machine has one, and others that are asked for. */
export const runtimes = oncePerFile(async (): Promise<string[][]> => {
  const { PATH = '', CLIENT_RUNTIMES: others = '' } = process.env
  const asked = others.split(',').filter((command) => command !== '')
  const found = [[process.execPath], ...asked.map((command) => command.split(' '))]
  for (const folder of PATH.split(delimiter)) {
    const node = join(folder, 'node')
    if (!existsSync(node)) continue
    const { stdout } = await run(node, ['--version'])
    if (!stdout.startsWith('v20.')) continue
    found.push([node])
    break
  }
  return found
})
