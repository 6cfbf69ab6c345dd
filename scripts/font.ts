// Builds web/public/inter-4.woff2, the app's only font, from the package of the full one: a subset with the letters of
// languages in Latin script, the weights of the app, and every feature (such as tabular figures). Its tools are
// installed in a separate folder:
//
//   npm install --prefix /tmp/font --save-exact @fontsource-variable/inter@5.3.0 subset-font@2.9.0
//   node scripts/font.ts /tmp/font
import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

type Subset = (font: Buffer, text: string, options: object) => Promise<Buffer>

const ranges: [from: number, to: number][] = [
  [0x20, 0x7e],
  [0xa0, 0xff],
  [0x131, 0x131],
  [0x152, 0x153],
  [0x2010, 0x2026],
  [0x2030, 0x203a],
  [0x20ac, 0x20ac],
  [0x2122, 0x2122],
  [0x2190, 0x2193],
  [0x2212, 0x2215],
]
const weights = { min: 400, max: 700 }

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('The folder with the packages is required: node scripts/font.ts /tmp/font')
const load = createRequire(join(folder, 'package.json'))
const subset: Subset = load('subset-font')
const whole = await readFile(load.resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'))
const text = ranges
  .flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, n) => String.fromCodePoint(from + n)))
  .join('')
const font = await subset(whole, text, { targetFormat: 'woff2', variationAxes: { wght: weights } })
await writeFile(fileURLToPath(new URL('../web/public/inter-4.woff2', import.meta.url)), font)
console.log(`${font.length} bytes of ${whole.length}`)
