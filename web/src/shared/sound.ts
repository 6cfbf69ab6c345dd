import type { NotificationTone } from '../data/notifications.ts'

let context: AudioContext | null = null

/** Browsers block sound until the first user gesture. Prepares it then. */
export function unlockAudioOnGesture(): () => void {
  const unlock = () => {
    // Touch counts only at its end, and keys such as Escape do not count.
    if (navigator.userActivation?.hasBeenActive === false) return
    context ??= new AudioContext()
    void context.resume()
    stop()
  }
  const stop = () => {
    for (const gesture of gestures) document.removeEventListener(gesture, unlock)
  }
  for (const gesture of gestures) document.addEventListener(gesture, unlock)
  return stop
}

const gestures = ['pointerdown', 'pointerup', 'keydown']
const lockMs = 3000

interface Note {
  /** Start frequency, and the one that it slides to. */
  hertz: number
  toHertz: number
  atSeconds: number
  seconds: number
  shape: OscillatorType
  loudness: number
}

const soft = { seconds: 0.25, shape: 'sine', loudness: 0.12 } as const
const hard = { hertz: 260, toHertz: 150, seconds: 0.09, shape: 'triangle', loudness: 0.3 } as const
const tones: Readonly<Record<NotificationTone, readonly Note[]>> = {
  chime: [
    { ...soft, hertz: 660, toHertz: 660, atSeconds: 0 },
    { ...soft, hertz: 880, toHertz: 880, atSeconds: 0.12 },
  ],
  drop: [{ ...soft, hertz: 520, toHertz: 1040, atSeconds: 0, seconds: 0.18 }],
  knock: [
    { ...hard, atSeconds: 0 },
    { ...hard, atSeconds: 0.16 },
    { ...hard, atSeconds: 0.32 },
  ],
}

/** Plays the chosen sound in only one of the open tabs. */
export async function playSound(id: string, tone: NotificationTone): Promise<void> {
  const player = context
  // A tab without a user gesture must not take the lock from others.
  if (player?.state !== 'running') return
  // The tab with the lock plays; it keeps the lock until the slowest tab has requested it.
  await navigator.locks.request(`parley.sound.${id}`, { ifAvailable: true }, async (lock) => {
    if (lock === null) return
    play(player, tones[tone])
    await new Promise((resolve) => setTimeout(resolve, lockMs))
  })
}

/** Plays a sound while choosing among them, after a click. */
export async function previewSound(tone: NotificationTone): Promise<void> {
  context ??= new AudioContext()
  await context.resume()
  play(context, tones[tone])
}

function play(player: AudioContext, notes: readonly Note[]): void {
  for (const { hertz, toHertz, atSeconds, seconds, shape, loudness } of notes) {
    const start = player.currentTime + atSeconds
    const tone = new OscillatorNode(player, { type: shape, frequency: hertz })
    tone.frequency.setValueAtTime(hertz, start)
    tone.frequency.exponentialRampToValueAtTime(toHertz, start + seconds)
    const gain = new GainNode(player, { gain: 0 })
    gain.gain.setValueAtTime(0, start)
    gain.gain.linearRampToValueAtTime(loudness, start + 0.02)
    gain.gain.exponentialRampToValueAtTime(0.001, start + seconds)
    tone.connect(gain).connect(player.destination)
    tone.start(start)
    tone.stop(start + seconds + 0.05)
  }
}
