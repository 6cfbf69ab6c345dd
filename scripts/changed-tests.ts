import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname, posix } from 'node:path'

const sources = '{server,simulator,web,client,scripts,bench,bin}/**/*.{ts,tsx,mjs,cjs}'
const typeImports = /^import (?:type [^'"]*?|\{(?:\s*type [\w$]+(?: as [\w$]+)?,?)+\s*\}) from .*$/gm
/** They import every module, so what lies behind them is not taken for what a change reaches. */
const compositionRoots = /^server\/src\/(app|commands)\/|^server\/src\/main\.ts$|^web\/src\/app\//

/** Returns whether a test file is one that the changes since `revision` reach. Uncommitted and new files count as changes, moved ones do not. */
export const changedTests = (revision: string): ((test: string) => boolean) => testsReachedBy(changedFiles(revision))

/** Returns whether a test file is among `changed`, imports one of them, or stands in the folder of tests of a changed source. */
export function testsReachedBy(changed: readonly string[]): (test: string) => boolean {
  const reached = reachedFrom(
    changed,
    importersOf(globSync(sources, { exclude: ['**/node_modules/**', '**/dist/**'] })),
  )
  const folders = changed.filter((file) => /^(?:server|simulator)\/src\//.test(file)).map(testFolderOf)
  const isPageChange = changed.some((file) => file.startsWith('web/src/'))
  const isSchemaChange = changed.some((file) => file.startsWith('server/migrations/'))
  const isTextChange = changed.some((file) => file.endsWith('.md'))
  return (test) =>
    reached.has(test) ||
    folders.includes(dirname(test)) ||
    (isPageChange && test.startsWith('web/test/journeys/')) ||
    (isSchemaChange && /schema|migrat|upgrade/.test(test)) ||
    (isTextChange && /documents|tutorials/.test(test))
}

/** Returns paths that differ from where this branch left `revision`. */
function changedFiles(revision: string): string[] {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim().split('\n')
  const [base = revision] = git('merge-base', revision, 'HEAD')
  const differing = git('diff', '--name-status', '--find-renames', base)
    .map((line) => line.split('\t'))
    .filter(([status]) => status !== 'R100' && status !== 'D')
    .map((columns) => columns.at(-1) ?? '')
  return [...differing, ...git('ls-files', '--others', '--exclude-standard')].filter((path) => path !== '')
}

function importersOf(files: readonly string[]): Map<string, string[]> {
  const importers = new Map<string, string[]>()
  for (const file of files) {
    // The type checker finds what a changed type breaks.
    const text = readFileSync(file, 'utf8').replace(typeImports, '')
    for (const [, specifier = ''] of text.matchAll(/(?:\bfrom|\bimport|\bnew URL)\s*\(?\s*['"](\.[^'"]*)['"]/g)) {
      const target = posix.normalize(posix.join(dirname(file), specifier))
      importers.set(target, [...(importers.get(target) ?? []), file])
    }
  }
  return importers
}

function reachedFrom(changed: readonly string[], importers: Map<string, string[]>): Set<string> {
  const reached = new Set(changed)
  for (const file of reached) {
    if (compositionRoots.test(file) && !changed.includes(file)) continue
    for (const importer of importers.get(file) ?? []) reached.add(importer)
  }
  return reached
}

/** Returns `server/test/inbox/send` of `server/src/inbox/send/send.ts`. */
function testFolderOf(source: string): string {
  return source.startsWith('simulator/') ? 'simulator/test' : dirname(source).replace('server/src', 'server/test')
}
