let context: AudioContext | null = null

/** Browsers let nothing sound before the first touch or key: from then on it may. */
export function hearFirstGesture(): () => void {
  const begin = () => {
    context ??= new AudioContext()
    void context.resume()
    stop()
  }
  const stop = () => {
    document.removeEventListener('pointerdown', begin)
    document.removeEventListener('keydown', begin)
  }
  document.addEventListener('pointerdown', begin)
  document.addEventListener('keydown', begin)
  return stop
}

const heldMs = 3000
const tones = [
  { hertz: 660, at: 0 },
  { hertz: 880, at: 0.12 },
]

/** Two short tones, by one of the pages that are open. */
export async function sound(id: string): Promise<void> {
  // Whoever has the lock plays; it is held until the slowest page has asked for it.
  await navigator.locks.request(`parley.sound.${id}`, { ifAvailable: true }, async (lock) => {
    if (lock === null) return
    play()
    await new Promise((resolve) => setTimeout(resolve, heldMs))
  })
}

function play(): void {
  if (context?.state !== 'running') return
  for (const { hertz, at } of tones) {
    const start = context.currentTime + at
    const tone = new OscillatorNode(context, { frequency: hertz })
    const loudness = new GainNode(context, { gain: 0 })
    loudness.gain.setValueAtTime(0, start)
    loudness.gain.linearRampToValueAtTime(0.12, start + 0.02)
    loudness.gain.exponentialRampToValueAtTime(0.001, start + 0.25)
    tone.connect(loudness).connect(context.destination)
    tone.start(start)
    tone.stop(start + 0.3)
  }
}
