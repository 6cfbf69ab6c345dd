import type { RecordingPlan } from './voice-formats.ts'

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

export interface RecordingResult {
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
