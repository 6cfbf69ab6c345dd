import type { Locator, Page } from 'playwright-core'

export interface Scrolling {
  frames: number
  /** What the page's own work takes of the processor for each frame, so that what else the machine does changes nothing. */
  workMs: number
  /** Time between two frames, of which 95 % are within this. */
  slowMs: number
  longestMs: number
  /** How many frames had nowhere to go, as what comes next was not there yet. */
  stalledFrames: number
}

const frameCount = 120
const stepPx = 240

/** Scrolls by a few rows in each frame, as a hand does that is looking for something. */
export async function measureScrolling(page: Page, box: Locator): Promise<Scrolling> {
  const devTools = await page.context().newCDPSession(page)
  await devTools.send('Performance.enable', { timeDomain: 'threadTicks' })
  const busyMs = async () => {
    const { metrics } = await devTools.send('Performance.getMetrics')
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0)
  }
  const busyBefore = await busyMs()
  const seen = await box.evaluate(
    async (element, { frameCount, stepPx }) => {
      const { requestAnimationFrame } = globalThis as unknown as { requestAnimationFrame(run: () => void): void }
      const times: number[] = []
      let stalledFrames = 0
      let before = performance.now()
      for (let n = 0; n < frameCount; n++) {
        const from = element.scrollTop
        element.scrollTop += stepPx
        if (element.scrollTop === from) stalledFrames++
        await new Promise<void>((resolve) => requestAnimationFrame(resolve))
        const now = performance.now()
        times.push(now - before)
        before = now
      }
      const sorted = times.toSorted((a, b) => a - b)
      return { slowMs: sorted[Math.floor(times.length * 0.95)] ?? 0, longestMs: sorted.at(-1) ?? 0, stalledFrames }
    },
    { frameCount, stepPx },
  )
  const workMs = ((await busyMs()) - busyBefore) / frameCount
  await devTools.detach()
  return { frames: frameCount, workMs, ...seen }
}

/** The same in a line for people. */
export const describeScrolling = ({ frames, workMs, slowMs, longestMs, stalledFrames }: Scrolling): string =>
  `${frames} frames of ${stepPx} px: ${workMs.toFixed(1)} ms of work a frame; 95 % of the frames within ${slowMs.toFixed(1)} ms, the longest ${longestMs.toFixed(1)} ms; ${stalledFrames} had to wait`
