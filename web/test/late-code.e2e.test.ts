import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build, type Rolldown } from 'vite'
import { atEnd } from '../../server/test/support/file-end.ts'
import { launchBrowser, visitOf } from './support/browser.ts'

const stage = fileURLToPath(new URL('support/late-code-stage.ts', import.meta.url))

/** A page of nothing but React and what is loaded late. */
async function stageCode(): Promise<string> {
  const lib = { entry: stage, formats: ['iife' as const], name: 'stage' }
  const built = await build({
    configFile: false,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' },
    build: { write: false, lib },
  })
  const [made] = [built].flat() as Rolldown.RolldownOutput[]
  return made?.output[0].code ?? ''
}

test('code that comes while the page waits for it is drawn, and React has nothing to get over', async () => {
  const browser = await launchBrowser()
  atEnd(() => browser.close())
  const { page } = await visitOf(browser, {})
  await page.evaluate(await stageCode())
  await page.getByText('It is there').waitFor()
})
