import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const documents = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...globSync('docs/**/*.md', { cwd: root })]
// The pages that lead through the code.
const guides = ['docs/map.md', 'docs/paths.md', 'docs/decisions/023-rooms.md', 'CONTRIBUTING.md']
const folders = ['', 'server/src', 'web/src']
const fileNames = new Set(
  globSync('{server,web,bench,scripts,bin}/**/*.*', { cwd: root, exclude }).map((path) => basename(path)),
)
const pathLike = /^[\w.-]+(?:\/[\w.-]+)*(?:\/|\.(?:tsx?|mjs|sql|json|md))$/

function exclude(path: string): boolean {
  return /node_modules|web\/dist/.test(path)
}

function read(document: string): string {
  return readFileSync(join(root, document), 'utf8')
}

function withoutBlocks(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, '')
}

for (const guide of guides) {
  test(`every file and folder that ${guide} names is there`, () => {
    const words = [...withoutBlocks(read(guide)).matchAll(/`([^`\n]+)`/g)].map(([, word = '']) => word)
    const paths = [...new Set(words.filter((word) => pathLike.test(word)))]
    // In a sentence the folder is said once, so a name alone may be in any.
    const isThere = (path: string) =>
      folders.some((folder) => existsSync(join(root, folder, path))) || (!path.includes('/') && fileNames.has(path))
    assert.ok(paths.length > 3, 'paths are found')
    assert.deepEqual(
      paths.filter((path) => !isThere(path)),
      [],
    )
  })
}

test('every link of the documents leads to a file that is there, and to a heading of it', () => {
  const bad = documents.flatMap((document) =>
    [...withoutBlocks(read(document)).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, to = '']) => to)
      .filter((to) => !/^https?:/.test(to) && !leadsSomewhere(document, to))
      .map((to) => `${document} → ${to}`),
  )
  assert.deepEqual(bad, [])
})

function leadsSomewhere(document: string, to: string): boolean {
  const [path = '', heading] = to.split('#')
  const target = path === '' ? document : join(dirname(document), path)
  if (!existsSync(join(root, target))) return false
  if (heading === undefined) return true
  const headings = withoutBlocks(read(target)).matchAll(/^#+ (.*)$/gm)
  return [...headings].some(([, title = '']) => anchorOf(title) === heading)
}

/** As the places where documents are read make it. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

test('the first page fits a few screens', () => {
  assert.ok(read('README.md').split('\n').length <= 151)
})
