import { fileAddress } from '../../data/inbox/files.ts'
import { createPublisher } from '../parts/publisher.ts'
import { setPlayerOpen } from './is-player-open.ts'
import { type Speed, speedAfter, speeds } from './media-rules.ts'

/** Audio of a message. */
export interface Track {
  workspaceId: string
  conversationId: string
  messageId: string
  mediaId: string
  /** Title in the player bar. */
  title: string
  /** As the platform reports; null until the browser knows. */
  seconds: number | null
}

export interface PlaybackState {
  track: Track
  isPlaying: boolean
  /** In seconds. */
  at: number
  length: number | null
  speed: Speed
  hasFailed: boolean
}

const storageKey = 'parley.speed'
const { publish, useValue } = createPublisher()
let playing: PlaybackState | null = null
// One element for the whole app: playback continues while its message is not visible, and only one audio plays.
let audio: HTMLAudioElement | null = null

/** Returns the audio that is playing or paused, on any page. */
export const usePlayer = (): PlaybackState | null => useValue(() => playing)

/** Returns like `usePlayer`, but null for other files. */
export const usePlayerOf = (mediaId: string): PlaybackState | null =>
  useValue(() => (playing?.track.mediaId === mediaId ? playing : null))

const canPlayKnown = new Map<string, boolean>()

/** Returns whether the browser can play a type of audio. */
export function canPlay(type: string): boolean {
  const known = canPlayKnown.get(type) ?? document.createElement('audio').canPlayType(type) !== ''
  canPlayKnown.set(type, known)
  return known
}

/** Plays or resumes a file; pauses it if it is playing. */
export function toggle(track: Track): void {
  if (playing?.track.mediaId === track.mediaId && !playing.hasFailed) {
    if (playing.isPlaying) audio?.pause()
    else void startPlayback()
    return
  }
  load(track)
  void startPlayback()
}

/** Seeks to a position of a file, loading it first if another one was loaded. */
export function seek(track: Track, at: number): void {
  if (playing?.track.mediaId !== track.mediaId) load(track)
  if (audio === null) return
  audio.currentTime = at
  change({ at })
}

export function nextSpeed(): void {
  if (playing === null || audio === null) return
  const speed = speedAfter(playing.speed)
  localStorage.setItem(storageKey, String(speed))
  audio.playbackRate = speed
  change({ speed })
}

/** Pauses, when other media start to play. */
export const pausePlayer = (): void => audio?.pause()

export function stop(): void {
  audio?.pause()
  audio?.removeAttribute('src')
  playing = null
  emitChange()
}

function load(track: Track): void {
  audio ??= newAudio()
  audio.src = fileAddress(track.workspaceId, track.mediaId)
  const speed = savedSpeed()
  // Browsers reset the rate with each new source.
  audio.defaultPlaybackRate = speed
  audio.playbackRate = speed
  playing = { track, isPlaying: false, at: 0, length: track.seconds, speed, hasFailed: false }
  emitChange()
}

async function startPlayback(): Promise<void> {
  try {
    await audio?.play()
  } catch (error) {
    // Another one was started meanwhile, or the player was closed.
    if (!(error instanceof DOMException) || error.name !== 'AbortError') change({ isPlaying: false, hasFailed: true })
  }
}

function newAudio(): HTMLAudioElement {
  const element = new Audio()
  element.preload = 'auto'
  element.onplay = () => change({ isPlaying: true, hasFailed: false })
  element.onpause = () => change({ isPlaying: false })
  element.ontimeupdate = () => change({ at: element.currentTime })
  element.onended = () => change({ isPlaying: false, at: 0 })
  element.ondurationchange = () => {
    // Some recordings have no duration until they have been played.
    if (Number.isFinite(element.duration) && element.duration > 0) change({ length: element.duration })
  }
  element.onerror = () => {
    if (element.hasAttribute('src')) change({ isPlaying: false, hasFailed: true })
  }
  return element
}

function savedSpeed(): Speed {
  const kept = Number(localStorage.getItem(storageKey))
  return speeds.find((one) => one === kept) ?? 1
}

function change(changes: Partial<PlaybackState>): void {
  if (playing === null) return
  playing = { ...playing, ...changes }
  emitChange()
}

const emitChange = (): void => {
  setPlayerOpen(playing !== null)
  publish()
}
