import { useSyncExternalStore } from 'react'
import { fileAddress } from '../../data/inbox/files.ts'
import { type Speed, speedAfter, speeds } from './media-rules.ts'
import { setPlayerOpen } from './player-open.ts'

/** A sound that a message carries. */
export interface Track {
  workspaceId: string
  conversationId: string
  messageId: string
  mediaId: string
  /** Whose it is, as the bar says it. */
  title: string
  /** As the platform tells; null until the browser knows. */
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
const listeners = new Set<() => void>()
let playing: PlaybackState | null = null
// One for the whole app: it goes on while its message is out of sight, and nothing sounds beside it.
let audio: HTMLAudioElement | null = null

/** What is being played, or was until it was paused, anywhere. */
export const usePlayer = (): PlaybackState | null => useSyncExternalStore(subscribe, () => playing)

/** The same if it is this file, else null. */
export const usePlayerOf = (mediaId: string): PlaybackState | null =>
  useSyncExternalStore(subscribe, () => (playing?.track.mediaId === mediaId ? playing : null))

const canPlayKnown = new Map<string, boolean>()

/** Whether this browser plays a type of sound. */
export function canPlay(type: string): boolean {
  const known = canPlayKnown.get(type) ?? document.createElement('audio').canPlayType(type) !== ''
  canPlayKnown.set(type, known)
  return known
}

/** Plays a file, or goes on with it; pauses it when it is playing. */
export function toggle(track: Track): void {
  if (playing?.track.mediaId === track.mediaId && !playing.hasFailed) {
    if (playing.isPlaying) audio?.pause()
    else void startPlayback()
    return
  }
  load(track)
  void startPlayback()
}

/** Goes to a moment of a file, which is taken up if another one was. */
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

/** Something else begins to sound. */
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
  // The browser goes back to its default with each new source.
  audio.defaultPlaybackRate = speed
  audio.playbackRate = speed
  playing = { track, isPlaying: false, at: 0, length: track.seconds, speed, hasFailed: false }
  emitChange()
}

async function startPlayback(): Promise<void> {
  try {
    await audio?.play()
  } catch (error) {
    // Another one was begun meanwhile, or it was closed.
    if (!(error instanceof DOMException) || error.name !== 'AbortError') change({ isPlaying: false, hasFailed: true })
  }
}

function newAudio(): HTMLAudioElement {
  const made = new Audio()
  made.preload = 'auto'
  made.onplay = () => change({ isPlaying: true, hasFailed: false })
  made.onpause = () => change({ isPlaying: false })
  made.ontimeupdate = () => change({ at: made.currentTime })
  made.onended = () => change({ isPlaying: false, at: 0 })
  made.ondurationchange = () => {
    // Some recordings do not say how long they are until they have been heard.
    if (Number.isFinite(made.duration) && made.duration > 0) change({ length: made.duration })
  }
  made.onerror = () => {
    if (made.hasAttribute('src')) change({ isPlaying: false, hasFailed: true })
  }
  return made
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
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
