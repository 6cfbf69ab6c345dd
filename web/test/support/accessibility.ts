import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { phone, takeScreenshot } from './browser.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const contrastRules = ['color-contrast', 'link-in-text-block']

export const overlays = '[role=dialog], [role=menu], [role=listbox]'

const rulesWithoutContrast = { rules: Object.fromEntries(contrastRules.map((rule) => [rule, { enabled: false }])) }
/** Dark mode differs from light mode only in colors, and phones only in the rest: each variant checks what differs. */
const rulesOf = { light: {}, dark: { runOnly: contrastRules }, phone: rulesWithoutContrast }

/** Fails if axe reports a violation, in light and dark mode, or on a phone if the page is narrow. */
export async function assertAccessible(page: Page): Promise<void> {
  const isPhone = (page.viewportSize()?.width ?? 0) < 600
  assert.deepEqual(isPhone ? await issuesIn(page, 'phone') : await issuesInSchemes(page), [])
}

/** Shows the page on a phone, and fails if it stays wider. */
export async function fitsPhone(page: Page): Promise<void> {
  await page.setViewportSize(phone)
  const widthOf = () => page.evaluate('document.documentElement.scrollWidth') as Promise<number>
  let width = await widthOf()
  for (let frames = 0; width > phone.width && frames < 120; frames++) {
    await page.evaluate('new Promise(requestAnimationFrame)')
    width = await widthOf()
  }
  assert.ok(width <= phone.width, `${width} wide`)
}

export const issuesInSchemes = async (page: Page): Promise<string[]> => [
  ...(await issuesIn(page, 'light')),
  ...(await issuesIn(page, 'dark')),
]

/** Returns the violations that axe reports in the page or a selector. Switches to dark mode without a reload. */
export async function issuesIn(page: Page, variant: 'light' | 'dark' | 'phone', within?: string): Promise<string[]> {
  // Outdated rows are dimmed for a moment, too short to be read.
  await page.locator('[data-old], [data-stale]').first().waitFor({ state: 'detached' })
  if (variant === 'dark') await setColorScheme(page, 'dark')
  await waitForDialogNames(page)
  await takeScreenshot(page)
  const found = await find(page, rulesOf[variant], within)
  if (variant === 'dark') await setColorScheme(page, 'light')
  return found.map((issue) => `${variant}: ${issue}`)
}

/** Waits until dialogs are named by their title, one render later; axe reports one without a name. */
async function waitForDialogNames(page: Page): Promise<void> {
  const named = `[...document.querySelectorAll('[role=dialog]')].every((dialog) =>
    dialog.hasAttribute('aria-label') || document.getElementById(dialog.getAttribute('aria-labelledby') ?? ''))`
  await page.waitForFunction(named, undefined, { timeout: 2_000 }).catch(() => {})
}

/** Resolves when the app has followed; pages outside the app follow by CSS alone. */
async function setColorScheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme })
  const root = `html[data-mantine-color-scheme=${colorScheme}], html:not([data-mantine-color-scheme])`
  await page.locator(root).waitFor({ state: 'attached' })
}

interface Violation {
  id: string
  nodes: { html: string; failureSummary: string }[]
}

async function find(page: Page, rules: object, within: string | undefined): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe)
  const options = { resultTypes: ['violations'], iframes: false, ...rules }
  const violations = await page.evaluate(runAxe, { options, within })
  const found = violations.flatMap(({ id, nodes }) => nodes.map((node) => ({ id, ...node })))
  // A dropdown is reached by its button, and belongs to no landmark.
  const isDropped = (await page.locator('[data-portal] :is([role=menu], [role=dialog], [role=listbox])').count()) > 0
  return found
    .filter(({ id }) => !(isDropped && id === 'region'))
    .map(({ id, html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary.slice(0, 200)}`)
}

/** Runs in the page. */
async function runAxe({ options, within }: { options: object; within: string | undefined }): Promise<Violation[]> {
  // biome-ignore lint/suspicious/noExplicitAny: axe is injected into the page, and these tests have server types
  const { axe, document } = globalThis as any
  const shown = [...document.querySelectorAll(within ?? 'html')].filter((one) => one.checkVisibility())
  return (await axe.run({ include: shown }, options)).violations
}
