let context: AudioContext | null = null

/** Browsers let nothing sound before the first touch or key: from then on it may. */
export function hearFirstGesture(): () => void {
  const begin = () => {
    // Of a finger only the end counts, and keys like Escape not at all.
    if (navigator.userActivation?.hasBeenActive === false) return
    context ??= new AudioContext()
    void context.resume()
    stop()
  }
  const stop = () => {
    for (const gesture of gestures) document.removeEventListener(gesture, begin)
  }
  for (const gesture of gestures) document.addEventListener(gesture, begin)
  return stop
}

const gestures = ['pointerdown', 'pointerup', 'keydown']
const heldMs = 3000
const tones = [
  { hertz: 660, at: 0 },
  { hertz: 880, at: 0.12 },
]

/** Two short tones, by one of the pages that are open. */
export async function sound(id: string): Promise<void> {
  const player = context
  // A page that nobody has touched yet would keep the others from it.
  if (player?.state !== 'running') return
  // Whoever has the lock plays; it is held until the slowest page has asked for it.
  await navigator.locks.request(`parley.sound.${id}`, { ifAvailable: true }, async (lock) => {
    if (lock === null) return
    play(player)
    await new Promise((resolve) => setTimeout(resolve, heldMs))
  })
}

function play(player: AudioContext): void {
  for (const { hertz, at } of tones) {
    const start = player.currentTime + at
    const tone = new OscillatorNode(player, { frequency: hertz })
    const loudness = new GainNode(player, { gain: 0 })
    loudness.gain.setValueAtTime(0, start)
    loudness.gain.linearRampToValueAtTime(0.12, start + 0.02)
    loudness.gain.exponentialRampToValueAtTime(0.001, start + 0.25)
    tone.connect(loudness).connect(player.destination)
    tone.start(start)
    tone.stop(start + 0.3)
  }
}
