import { createPublisher } from '../parts/publisher.ts'

const { publish, useValue } = createPublisher()
let isOpen = false

/** Returns whether audio is playing or paused. The player itself is loaded with the first audio. */
export const useIsPlayerOpen = (): boolean => useValue(() => isOpen)

export function setPlayerOpen(next: boolean): void {
  if (next === isOpen) return
  isOpen = next
  publish()
}
