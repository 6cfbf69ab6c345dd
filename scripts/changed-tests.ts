import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname, posix } from 'node:path'

const sources = '{server,simulator,web,client,scripts,bench,bin}/**/*.{ts,tsx,mjs,cjs}'
const typeImports = /^import (?:type [^'"]*?|\{(?:\s*type [\w$]+(?: as [\w$]+)?,?)+\s*\}) from .*$/gm
/** They import every module, so imports of these files do not count when finding the tests that a change reaches. */
const compositionRoots = /^server\/src\/(app|commands)\/|^server\/src\/main\.ts$|^web\/src\/app\//

/**
 * Returns a predicate for tests that changes since `revision` reach: committed or not, new files too, but not moves.
 */
export const changedTests = (revision: string): ((test: string) => boolean) => testsReachedBy(changedFiles(revision))

/** Returns a predicate for tests that changed, import a changed file, or are in a changed source's test folder. */
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

/** Returns paths that differ from the merge base with `revision`. */
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
    // The type checker covers changes of types.
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

/** Maps `server/src/inbox/send/send.ts` to `server/test/inbox/send`. */
function testFolderOf(source: string): string {
  return source.startsWith('simulator/') ? 'simulator/test' : dirname(source).replace('server/src', 'server/test')
}
