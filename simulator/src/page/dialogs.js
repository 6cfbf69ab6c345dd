const $ = (id) => document.getElementById(id)

/** Calls the simulator. Throws its error message if it refuses. */
export async function callSimulator(method, path, body) {
  const answer = await fetch(path, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  const value = await answer.json()
  if (!answer.ok) throw Object.assign(new Error(value.statusMessage), { status: answer.status })
  return value
}

const maxBytes = 100 * 1024 * 1024

/** Uploads a chosen or recorded file; returns its id. */
export async function uploadFile(file, { numberId, isVoice = false }) {
  if (file.size > maxBytes) throw Object.assign(new Error('A file may have at most 100 MB'), { status: 413 })
  const { type, name } = file
  const query = new URLSearchParams({
    numberId,
    type: type || 'application/octet-stream',
    ...(name ? { name: name.slice(0, 240) } : {}),
  })
  if (isVoice) query.set('isVoice', 'true')
  const headers = { 'content-type': 'application/octet-stream' }
  const answer = await fetch(`/simulator/files?${query}`, { method: 'POST', headers, body: file })
  const value = await answer.json()
  if (!answer.ok) throw Object.assign(new Error(value.statusMessage), { status: answer.status })
  return value.fileId
}

/** Performs a user's action. Shows an error if it fails, and keeps what they typed. */
export async function runAction(work, refresh) {
  try {
    await work()
    showProblem(null)
    await refresh()
    return true
  } catch (error) {
    showProblem(error.status ? error.message : 'The simulator is not responding')
    return false
  }
}

/** Shows an error in every place for errors; null hides it. */
export function showProblem(words) {
  for (const place of document.querySelectorAll('.problem')) {
    place.textContent = words ?? ''
    place.hidden = words === null
  }
}

/** Calls `show` whenever something changes, one call at a time. */
export function followChanges(show) {
  let isAsking = false
  let askAgain = false
  async function refresh() {
    if (isAsking) {
      askAgain = true
      return
    }
    isAsking = true
    try {
      await show()
      $('offline').hidden = true
    } catch {
      $('offline').hidden = false
    } finally {
      isAsking = false
      if (askAgain) {
        askAgain = false
        refresh()
      }
    }
  }
  const live = new EventSource('/simulator/live')
  live.addEventListener('message', refresh)
  live.addEventListener('error', () => {
    $('offline').hidden = false
  })
  return refresh
}
