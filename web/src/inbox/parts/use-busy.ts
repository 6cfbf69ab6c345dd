import { useState } from 'react'
import { showError } from '../../ui/overlay/toasts.tsx'

/** Returns whether a task is running, and what runs one; its error is shown. */
export function useBusy(): [isBusy: boolean, run: (task: () => Promise<unknown>) => Promise<void>] {
  const [isBusy, setBusy] = useState(false)
  const run = async (task: () => Promise<unknown>) => {
    setBusy(true)
    try {
      await task()
    } catch (error) {
      showError(error)
    } finally {
      setBusy(false)
    }
  }
  return [isBusy, run]
}
