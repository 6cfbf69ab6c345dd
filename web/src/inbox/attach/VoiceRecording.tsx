import { Button, CloseButton, Loader } from '@mantine/core'
import { IconCheck, IconTrash } from '@tabler/icons-react'
import {
  BlobSource,
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacketSink,
  Input,
  OggOutputFormat,
  Output,
  WEBM,
} from 'mediabunny'
import { useEffect, useRef, useState } from 'react'
import type { UploadLimits } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { formatPlaybackTime } from '../../ui/format/size.ts'
import visuallyHidden from '../../ui/visually-hidden.module.css'
import { IconButton } from '../parts/IconButton.tsx'
import { type Attachment, newAttachment } from './attachment.ts'
import styles from './Recorder.module.css'
import {
  planFor,
  type Recording,
  RecordingError,
  type RecordingPlan,
  type RecordingProblem,
  startRecording,
  waveformOf,
} from './record.ts'
import tray from './Tray.module.css'

interface VoiceRecordingProps {
  isRecording: boolean
  limits: UploadLimits | undefined
  onEnded(recorded: Attachment | null): void
}

/** Voice recorder, or the reason why it is unavailable. */
export default function VoiceRecording({ isRecording, limits, onEnded }: VoiceRecordingProps) {
  const [problem, setProblem] = useState<RecordingProblem | null>(null)
  // Clears the error of the previous attempt.
  if (isRecording && problem !== null) setProblem(null)
  if (isRecording && limits !== undefined) {
    const failed = (why: RecordingProblem) => {
      onEnded(null)
      setProblem(why)
    }
    return <Recorder limits={limits} onEnded={onEnded} onFailed={failed} />
  }
  if (problem === null) return null
  return (
    <div className={tray.refused} role="alert">
      <p>{t.files.voice.problems[problem]}</p>
      <CloseButton size="sm" c="inherit" aria-label={t.common.close} onClick={() => setProblem(null)} />
    </div>
  )
}

interface RecorderProps {
  limits: UploadLimits
  /** Passes the recording, or null if it was discarded. */
  onEnded(recorded: Attachment | null): void
  onFailed(problem: RecordingProblem): void
}

const [drawMs, maxBars, maxMinutes] = [100, 120, 15]

/** Records a voice message, with duration, level, stop and discard. It can be played in the tray before it is sent. */
function Recorder({ limits, onEnded, onFailed }: RecorderProps) {
  const { voice: texts } = t.files
  const { state, levels, seconds, done, cancel } = useRecording(limits, onEnded, onFailed)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (state === 'recording') button.current?.focus()
  }, [state])
  if (state === 'opening') return null
  return (
    <section
      className={styles.recorder}
      aria-label={texts.recording}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        cancel()
      }}
    >
      <span className={visuallyHidden.hidden} role="status">
        {state === 'recording' ? texts.recording : texts.preparing}
      </span>
      <span className={styles.dot} aria-hidden="true" />
      <span className={styles.time} role="timer">
        {formatPlaybackTime(seconds)}
      </span>
      <span className={styles.meter} aria-hidden="true">
        {levels.slice(-maxBars).map((level, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: bars have no ids
          <span key={n} style={{ height: `${Math.max(3, Math.round(28 * level))}px` }} />
        ))}
      </span>
      <IconButton icon={IconTrash} label={texts.cancel} onClick={cancel} />
      <Button ref={button} size="compact-md" leftSection={<IconCheck size={16} />} onClick={done}>
        {state === 'recording' ? texts.done : <Loader size={14} />}
      </Button>
    </section>
  )
}

/** Runs one recording, from mount until it is finished, discarded or unmounted. */
function useRecording(limits: UploadLimits, ended: RecorderProps['onEnded'], failed: RecorderProps['onFailed']) {
  const [state, setState] = useState<'opening' | 'recording' | 'preparing'>('opening')
  const [levels, setLevels] = useState<readonly number[]>([])
  const [seconds, setSeconds] = useState(0)
  const recording = useRef<Recording | null>(null)
  const callbacks = useRef({ ended, failed })
  callbacks.current = { ended, failed }

  const done = async () => {
    const [plan, running] = [recordingPlan(limits), recording.current]
    if (plan === null || running === null) return
    recording.current = null
    setState('preparing')
    try {
      const { sound, seconds: length, levels: heights } = await running.stop()
      const file = plan.isRepacked ? await toOgg(sound) : new Blob([sound], { type: plan.type })
      callbacks.current.ended(
        newAttachment({
          file,
          kind: plan.kind,
          type: plan.type,
          name: `${t.files.voice.name}.${plan.extension}`,
          seconds: Math.round(length * 10) / 10,
          waveform: waveformOf(heights),
        }),
      )
    } catch (error) {
      callbacks.current.failed(problemOf(error))
    }
  }
  const end = useRef(done)
  end.current = done

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once
  useEffect(() => {
    let isGone = false
    let timer: ReturnType<typeof setInterval> | undefined
    const start = async () => {
      const plan = recordingPlan(limits)
      if (!window.isSecureContext) throw new RecordingError('insecure')
      if (plan === null) throw new RecordingError('unable')
      const started = await startRecording(plan)
      if (isGone) return started.cancel()
      recording.current = started
      setState('recording')
      timer = setInterval(() => {
        if (recording.current !== started) return
        setSeconds(started.seconds())
        setLevels((before) => [...before.slice(1 - maxBars), started.level()])
        if (started.seconds() >= maxMinutes * 60) void end.current()
      }, drawMs)
    }
    start().catch((error: unknown) => callbacks.current.failed(problemOf(error)))
    return () => {
      isGone = true
      clearInterval(timer)
      recording.current?.cancel()
    }
  }, [])
  const cancel = () => {
    recording.current?.cancel()
    recording.current = null
    ended(null)
  }
  return { state, levels, seconds, done: () => void done(), cancel }
}

function recordingPlan(limits: UploadLimits): RecordingPlan | null {
  const canRecord = (type: string) => typeof MediaRecorder === 'function' && MediaRecorder.isTypeSupported(type)
  return planFor(limits, canRecord)
}

const problemOf = (error: unknown): RecordingProblem => (error instanceof RecordingError ? error.problem : 'failed')

/** Copies the audio packets into an Ogg container, which channels accept; browsers record WebM. */
async function toOgg(webm: Blob): Promise<Blob> {
  const input = new Input({ source: new BlobSource(webm), formats: [WEBM] })
  const track = await input.getPrimaryAudioTrack()
  const decoderConfig = (await track?.getDecoderConfig()) ?? null
  if (track === null || decoderConfig === null) throw new Error('The recording has no sound')
  const source = new EncodedAudioPacketSource('opus')
  const target = new BufferTarget()
  const output = new Output({ format: new OggOutputFormat(), target })
  output.addAudioTrack(source)
  await output.start()
  let beganAt: number | null = null
  for await (const packet of new EncodedPacketSink(track).packets()) {
    beganAt ??= packet.timestamp
    await source.add(packet.clone({ timestamp: packet.timestamp - beganAt }), { decoderConfig })
  }
  await output.finalize()
  if (beganAt === null || target.buffer === null) throw new Error('The recording is empty')
  return new Blob([target.buffer], { type: 'audio/ogg' })
}
