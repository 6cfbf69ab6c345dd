const $ = (id) => document.getElementById(id)

/** Calls the simulator; throws what it says when it refuses. */
export async function ask(method, path, body) {
  const answer = await fetch(path, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  const value = await answer.json()
  if (!answer.ok) throw Object.assign(new Error(value.statusMessage), { status: answer.status })
  return value
}

/** Does what a person asked for; what goes wrong is shown, and nothing they typed is lost. */
export async function attempt(work, refresh) {
  try {
    await work()
    $('problem').hidden = true
    await refresh()
    return true
  } catch (error) {
    $('problem').textContent = error.status ? error.message : 'The simulator does not answer'
    $('problem').hidden = false
    return false
  }
}

/** Shows anew whenever something changed, one time after another. */
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
