import { ActionIcon, Button, Loader } from '@mantine/core'
import { IconCheck, IconTrash } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import type { UploadLimits } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { lengthOf } from '../../ui/format/size.ts'
import unseen from '../../ui/unseen.module.css'
import type { Attachment } from './attachment.ts'
import styles from './Recorder.module.css'
import { type Problem, type Recording, RecordingFailure, startRecording } from './record.ts'
import { newAttachment } from './take-files.ts'
import { toOgg } from './to-ogg.ts'
import { type Plan, planFor } from './voice-formats.ts'
import { waveformOf } from './waveform.ts'

interface RecorderProps {
  limits: UploadLimits
  /** With what was recorded, or null when it was discarded. */
  ended(recorded: Attachment | null): void
  failed(problem: Problem): void
}

const [drawMs, maxBars, maxMinutes] = [100, 120, 15]

/** Records a voice message: how long it is, how loud, done or discarded. It is heard before it is sent, in its row. */
export function Recorder({ limits, ended, failed }: RecorderProps) {
  const { voice: texts } = t.files
  const { state, levels, seconds, done, cancel } = useRecording(limits, ended, failed)
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
      <span className={unseen.unseen} role="status">
        {state === 'recording' ? texts.recording : texts.preparing}
      </span>
      <span className={styles.dot} aria-hidden="true" />
      <span className={styles.time} role="timer">
        {lengthOf(seconds)}
      </span>
      <span className={styles.meter} aria-hidden="true">
        {levels.slice(-maxBars).map((level, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: bars move on, they have no names
          <span key={n} style={{ height: `${Math.max(3, Math.round(28 * level))}px` }} />
        ))}
      </span>
      <ActionIcon variant="subtle" color="gray" aria-label={texts.cancel} title={texts.cancel} onClick={cancel}>
        <IconTrash size={18} />
      </ActionIcon>
      <Button ref={button} size="compact-md" leftSection={<IconCheck size={16} />} onClick={done}>
        {state === 'recording' ? texts.done : <Loader size={14} />}
      </Button>
    </section>
  )
}

/** One recording, from when it is drawn until it is done, discarded or taken away. */
function useRecording(limits: UploadLimits, ended: RecorderProps['ended'], failed: RecorderProps['failed']) {
  const [state, setState] = useState<'opening' | 'recording' | 'preparing'>('opening')
  const [levels, setLevels] = useState<readonly number[]>([])
  const [seconds, setSeconds] = useState(0)
  const recording = useRef<Recording | null>(null)
  const heard = useRef({ ended, failed })
  heard.current = { ended, failed }

  const done = async () => {
    const [plan, running] = [planHere(limits), recording.current]
    if (plan === null || running === null) return
    recording.current = null
    setState('preparing')
    try {
      const { sound, seconds: length, levels: heights } = await running.stop()
      const file = plan.isRepacked ? await toOgg(sound) : new Blob([sound], { type: plan.type })
      heard.current.ended(
        newAttachment({
          file,
          kind: plan.kind,
          type: plan.type,
          name: `${t.files.voice.name}.${plan.ending}`,
          seconds: Math.round(length * 10) / 10,
          waveform: waveformOf(heights),
        }),
      )
    } catch (error) {
      heard.current.failed(problemOf(error))
    }
  }
  const end = useRef(done)
  end.current = done

  // biome-ignore lint/correctness/useExhaustiveDependencies: begun once
  useEffect(() => {
    let isGone = false
    let timer: ReturnType<typeof setInterval> | undefined
    const begin = async () => {
      const plan = planHere(limits)
      if (!window.isSecureContext) throw new RecordingFailure('insecure')
      if (plan === null) throw new RecordingFailure('unable')
      const begun = await startRecording(plan)
      if (isGone) return begun.cancel()
      recording.current = begun
      setState('recording')
      timer = setInterval(() => {
        if (recording.current !== begun) return
        setSeconds(begun.seconds())
        setLevels((before) => [...before.slice(1 - maxBars), begun.level()])
        if (begun.seconds() >= maxMinutes * 60) void end.current()
      }, drawMs)
    }
    begin().catch((error: unknown) => heard.current.failed(problemOf(error)))
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

function planHere(limits: UploadLimits): Plan | null {
  const canRecord = (type: string) => typeof MediaRecorder === 'function' && MediaRecorder.isTypeSupported(type)
  return planFor(limits, canRecord)
}

const problemOf = (error: unknown): Problem => (error instanceof RecordingFailure ? error.problem : 'failed')
