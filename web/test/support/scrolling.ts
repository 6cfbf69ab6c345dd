import type { Locator, Page } from 'playwright-core'

export interface Scrolling {
  frames: number
  /** Milliseconds of the page's own CPU time per frame, independent of other load on the machine. */
  workMs: number
  /** 95th percentile of the time between two frames. */
  slowMs: number
  longestMs: number
  /** Number of frames without movement because the next rows were not loaded. */
  stalledFrames: number
}

const frameCount = 120
const stepPx = 240

/** Scrolls a few rows per frame, as a person who is looking for something. */
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

/** Formats the measurement in one line. */
export const describeScrolling = ({ frames, workMs, slowMs, longestMs, stalledFrames }: Scrolling): string =>
  `${frames} frames of ${stepPx} px: ${workMs.toFixed(1)} ms of work a frame; 95 % of the frames within ${slowMs.toFixed(1)} ms, the longest ${longestMs.toFixed(1)} ms; ${stalledFrames} had to wait`
