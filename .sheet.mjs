import { chromium } from 'playwright-core'
import { readFileSync } from 'node:fs'
const [out, cols, width, ...files] = process.argv.slice(2)
const b = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox','--disable-gpu'] })
const p = await b.newPage({ viewport: { width: Number(cols) * (Number(width) + 8), height: 400 } })
await p.setContent('<body style="margin:0;background:#888;display:flex;flex-wrap:wrap;gap:8px">' + files.map((f) => `<img style="width:${width}px" src="data:image/png;base64,${readFileSync(f).toString('base64')}">`).join(''))
await p.screenshot({ path: out, fullPage: true })
await b.close()
