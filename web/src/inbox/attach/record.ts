import type { UploadLimits } from '../../data/inbox/types.ts'

/** Why recording failed. */
export type RecordingProblem = 'insecure' | 'unable' | 'denied' | 'missing' | 'silent' | 'failed'

export class RecordingError extends Error {
  readonly problem: RecordingProblem

  constructor(problem: RecordingProblem, cause?: unknown) {
    super(problem, { cause })
    this.problem = problem
  }
}

export interface Recording {
  /** Current level, from 0 to 1. */
  level(): number
  seconds(): number
  /** Stops the recording. Rejects with a `RecordingError` if nothing was recorded. */
  stop(): Promise<RecordingResult>
  cancel(): void
}

interface RecordingResult {
  sound: Blob
  seconds: number
  /** Levels over time, from 0 to 1. */
  levels: readonly number[]
}

// Enough for voice; the platforms' own apps use the same.
const bitsPerSecond = 32_000
const sampleMs = 100

/** Starts a recording. Rejects with a `RecordingError`. */
export async function startRecording({ record }: Pick<RecordingPlan, 'record'>): Promise<Recording> {
  const stream = await openMicrophone()
  const recorder = new MediaRecorder(stream, { mimeType: record, audioBitsPerSecond: bitsPerSecond })
  const meter = createLevelMeter(stream)
  const parts: Blob[] = []
  const levels: number[] = []
  const beganMs = performance.now()
  const seconds = () => (performance.now() - beganMs) / 1000
  const sampler = setInterval(() => levels.push(meter.level()), sampleMs)
  const end = () => {
    clearInterval(sampler)
    for (const track of stream.getTracks()) track.stop()
    meter.close()
  }
  recorder.ondataavailable = ({ data }) => parts.push(data)
  recorder.start()
  return {
    level: meter.level,
    seconds,
    stop: async () => {
      const length = seconds()
      await onEnd(recorder).finally(end)
      const sound = new Blob(parts, { type: record })
      if (sound.size === 0) throw new RecordingError('silent')
      return { sound, seconds: length, levels }
    },
    cancel: () => {
      if (recorder.state !== 'inactive') recorder.stop()
      end()
    },
  }
}

async function openMicrophone(): Promise<MediaStream> {
  // Browsers provide the microphone only in secure contexts (HTTPS).
  if (!window.isSecureContext) throw new RecordingError('insecure')
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true, noiseSuppression: true } })
  } catch (error) {
    const name = error instanceof DOMException ? error.name : ''
    if (name === 'NotAllowedError' || name === 'SecurityError') throw new RecordingError('denied', error)
    throw new RecordingError(name === 'NotFoundError' ? 'missing' : 'failed', error)
  }
}

function onEnd(recorder: MediaRecorder): Promise<void> {
  return new Promise((resolve, reject) => {
    // The recorder stops if the device is disconnected: keep what was recorded.
    if (recorder.state === 'inactive') return resolve()
    recorder.onstop = () => resolve()
    recorder.onerror = (event) => reject(new RecordingError('failed', event))
    recorder.stop()
  })
}

function createLevelMeter(stream: MediaStream): { level(): number; close(): void } {
  const context = new AudioContext()
  const analyser = context.createAnalyser()
  analyser.fftSize = 1024
  context.createMediaStreamSource(stream).connect(analyser)
  const samples = new Float32Array(analyser.fftSize)
  return {
    level: () => {
      analyser.getFloatTimeDomainData(samples)
      return Math.min(1, Math.sqrt(samples.reduce((sum, one) => sum + one * one, 0) / samples.length) * 3)
    },
    close: () => void context.close(),
  }
}

/** How a voice message is recorded and sent. */
export interface RecordingPlan {
  /** MIME type for `MediaRecorder`. */
  record: string
  /** MIME type that is sent. */
  type: 'audio/ogg' | 'audio/mp4'
  extension: string
  kind: 'voice' | 'audio'
  /** Whether the audio is copied into another container. */
  isRepacked: boolean
}

type RecordingFormat = Omit<RecordingPlan, 'kind'>

// Formats that browsers record; those that need no remuxing first.
const formats: readonly RecordingFormat[] = [
  { record: 'audio/ogg;codecs=opus', type: 'audio/ogg', extension: 'ogg', isRepacked: false },
  { record: 'audio/webm;codecs=opus', type: 'audio/ogg', extension: 'ogg', isRepacked: true },
  { record: 'audio/mp4;codecs=mp4a.40.2', type: 'audio/mp4', extension: 'm4a', isRepacked: false },
]

/** Returns the format that the channel shows as a voice message, otherwise as audio; null without a common one. */
export function planFor(
  { kinds }: Pick<UploadLimits, 'kinds'>,
  canRecord: (type: string) => boolean,
): RecordingPlan | null {
  const able = formats.filter(({ record }) => canRecord(record))
  for (const kind of ['voice', 'audio'] as const) {
    const types = kinds.find((one) => one.kind === kind)?.types.map((type) => type.split(';')[0]?.trim()) ?? []
    const format = able.find(({ type }) => types.includes(type))
    if (format !== undefined) return { ...format, kind }
  }
  return null
}

/** Number of bars of a voice message. */
const maxBars = 64

/** Returns the bars of a voice message, from 0 to 100, for levels from 0 to 1. */
export function waveformOf(levels: readonly number[]): number[] {
  if (levels.length === 0) return []
  const count = Math.min(maxBars, levels.length)
  const peaks = Array.from({ length: count }, (_, n) => {
    const part = levels.slice(Math.floor((n * levels.length) / count), Math.floor(((n + 1) * levels.length) / count))
    return Math.max(...part)
  })
  // Normalized, so that quiet voices have a visible waveform.
  const loudest = Math.max(...peaks, 0.05)
  return peaks.map((peak) => Math.round((100 * Math.max(0, peak)) / loudest))
}
