import { placeBy } from './actions.js'
import { showProblem, uploadFile } from './dialogs.js'
import { icon, make } from './elements.js'

const $ = (id) => document.getElementById(id)

/**
 * Wires the attachment menu. `createSender` returns a function that sends to the chat open at that time, however long an
 * upload takes; `numberId` returns the number that files are uploaded for.
 */
export function wireAttach({ act, createSender, numberId }) {
  const menu = $('attach-menu')
  $('attach').append(icon('attach'))
  menu.addEventListener('toggle', ({ newState }) => newState === 'open' && placeBy(menu, $('attach')))
  const sendFile = (file, kind) =>
    whileSending(() =>
      act(async () => {
        const send = createSender()
        const upload = kind === 'image' ? await asPhoto(file) : file
        await send({ kind, fileId: await uploadFile(upload, { numberId: numberId() }) })
      }),
    )
  for (const [label, drawing, input, kindOf] of [
    ['Photo or video', 'photo', { accept: 'image/*,video/mp4,video/3gpp' }, kindOfType],
    ['File', 'document', {}, () => 'document'],
  ]) {
    const field = make('input', { type: 'file', multiple: '', tabindex: '-1', hidden: '', ...input })
    field.addEventListener('change', async () => {
      const files = [...field.files]
      field.value = ''
      for (const file of files) await sendFile(file, kindOf(file))
    })
    menu.append(
      field,
      entry(label, drawing, () => field.click()),
    )
  }
  wireDropped(sendFile)
  return { entry: (label, drawing, work) => menu.append(entry(label, drawing, work)) }
}

let underWay = 0

async function whileSending(work) {
  underWay += 1
  $('sending').hidden = false
  try {
    await work()
  } finally {
    underWay -= 1
    $('sending').hidden = underWay === 0
  }
}

function entry(label, drawing, work) {
  const button = make('button', { type: 'button' }, icon(drawing), make('span', { text: label }))
  button.addEventListener('click', () => {
    $('attach-menu').hidePopover()
    work()
  })
  return button
}

function kindOfType({ type }) {
  if (type.startsWith('image/') && type !== 'image/svg+xml') return 'image'
  if (type === 'video/mp4' || type === 'video/3gpp') return 'video'
  return type.startsWith('audio/') ? 'audio' : 'document'
}

// Phones send photos as JPEG, whatever the original format.
async function asPhoto(file) {
  if (file.type === 'image/jpeg' || file.type === 'image/png') return file
  const picture = await createImageBitmap(file).catch(() => null)
  if (picture === null)
    throw Object.assign(new Error('This browser cannot open the picture. Send it as a file instead'), { status: 422 })
  const canvas = make('canvas', { width: String(picture.width), height: String(picture.height) })
  canvas.getContext('2d').drawImage(picture, 0, 0)
  return new Promise((resolve) => {
    canvas.toBlob(resolve, 'image/jpeg', 0.85)
  })
}

/** Sends files that are pasted into a chat or dropped on it. */
function wireDropped(sendFile) {
  const take = async (event, files) => {
    if (files.length === 0) return
    event.preventDefault()
    for (const file of files) await sendFile(file, kindOfType(file))
  }
  $('text').addEventListener('paste', (event) => take(event, [...event.clipboardData.files]))
  $('phone').addEventListener('dragover', (event) => {
    if (event.dataTransfer.types.includes('Files')) event.preventDefault()
  })
  $('phone').addEventListener('drop', (event) => take(event, [...event.dataTransfer.files]))
}

/** Wires a dialog with a form: `work` is called with its fields. */
export function wireDialog(id, work) {
  const dialog = $(id)
  dialog.querySelector('form').addEventListener('submit', (event) => {
    if (event.submitter?.value !== 'send') return
    work(Object.fromEntries([...new FormData(event.target)].filter(([, value]) => value !== '')))
  })
  return () => dialog.showModal()
}

const sounds = ['audio/ogg;codecs=opus', 'audio/webm;codecs=opus', 'audio/mp4']
const maxSeconds = 300

/** Creates the recorder of voice notes; `done` is called with the file. */
export function createRecorder(done) {
  const bar = $('recording')
  let recorder = null
  let timer
  let isWanted = false
  const show = (isOn) => {
    bar.hidden = !isOn
    $('composer').hidden = isOn
    clearInterval(timer)
  }
  const stop = (wants) => {
    isWanted = wants
    recorder?.stop()
  }
  bar.querySelector('.cancel').addEventListener('click', () => stop(false))
  bar.querySelector('.send').append(icon('send'))
  bar.querySelector('.send').addEventListener('click', () => stop(true))
  return async () => {
    const mimeType = globalThis.MediaRecorder && sounds.find((one) => MediaRecorder.isTypeSupported(one))
    const stream = mimeType && (await navigator.mediaDevices?.getUserMedia({ audio: true }).catch(() => null))
    if (!stream)
      return showProblem('No microphone is available. You can send a ready-made voice note from this phone’s settings.')
    const parts = []
    recorder = new MediaRecorder(stream, { mimeType, audioBitsPerSecond: 24_000 })
    recorder.addEventListener('dataavailable', ({ data }) => parts.push(data))
    recorder.addEventListener('stop', () => {
      for (const track of stream.getTracks()) track.stop()
      show(false)
      if (isWanted) done(new File(parts, '', { type: mimeType }))
    })
    const since = performance.now()
    const tick = () => {
      const seconds = Math.floor((performance.now() - since) / 1000)
      bar.querySelector('time').textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
      if (seconds >= maxSeconds) stop(true)
    }
    recorder.start()
    show(true)
    tick()
    timer = setInterval(tick, 250)
    bar.querySelector('.send').focus()
  }
}
