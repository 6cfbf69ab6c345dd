import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'

const dist = new URL('../dist/', import.meta.url)
const most = 200_000

const textOf = (file: string) => readFileSync(new URL(`assets/${file}`, dist), 'utf8')

/** Returns a built file and all its static imports. */
function withImports(file: string, seen: Set<string> = new Set()): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  for (const [, name = ''] of textOf(file).matchAll(/\b(?:import|from)\s*["'`]\.\/([\w.-]+\.js)["'`]/g))
    withImports(name, seen)
  return seen
}

test('the inbox needs at most 200 kB of compressed script before it can be used', (t) => {
  const page = readFileSync(new URL('index.html', dist), 'utf8')
  const first = [...page.matchAll(/(?:src|href)="\/assets\/([\w.-]+\.js)"/g)].map(([, file = '']) => file)
  const files = new Set(first.flatMap((file) => [...withImports(file)]))
  const sizes = [...files].map((file) => [file, gzipSync(textOf(file), { level: 9 }).length] as const)
  const whole = sizes.reduce((sum, [, size]) => sum + size, 0)
  t.diagnostic(`${(whole / 1000).toFixed(1)} kB in ${sizes.length} files`)
  const largest = sizes.toSorted(([, a], [, b]) => b - a).slice(0, 12)
  assert.ok(whole <= most, `${whole} bytes, of which ${largest.map(([file, size]) => `${file} ${size}`).join(', ')}`)
})

test('the chat widget needs at most 30 kB compressed, of which a site loads 5 kB before the chat is opened', (t) => {
  const sizeOf = (file: string) => gzipSync(readFileSync(new URL(`widget/${file}`, dist)), { level: 9 }).length
  const { script, style } = JSON.parse(readFileSync(new URL('widget/files.json', dist), 'utf8'))
  const [button, chat, css] = ['widget.js', script, style].map(sizeOf) as [number, number, number]
  t.diagnostic(`${button} + ${chat} + ${css} bytes`)
  assert.ok(button <= 5_000, `${button} bytes`)
  assert.ok(button + chat + css <= 30_000, `${button + chat + css} bytes`)
})
