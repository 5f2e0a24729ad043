#!/bin/sh
# Proves an image: every program runs, as the user who is going to run it. Run inside, as root and as agent; fails loudly.
set -eu
HOME=$(mktemp -d)
export HOME DISABLE_AUTOUPDATER=1 PI_OFFLINE=1
trap 'rm -rf "$HOME"' EXIT

says() { # NAME WANTED COMMAND…: the command must say what is wanted
  name=$1 wanted=$2
  shift 2
  said=$("$@" 2>&1) || { echo "✗ $name: $said" >&2; exit 1; }
  case $said in *"$wanted"*) echo "✓ $name $wanted" ;; *) echo "✗ $name says: $said" >&2; exit 1 ;; esac
}

programs=/opt/orrery/programs
for id in claude codex pi; do
  version=$(cat "$programs/$id/VERSION")
  executable=$programs/$id/$version/$(cat "$programs/$id/EXECUTABLE")
  case $executable in
    *.js) says "$id" "$version" node "$executable" --version ;;
    *) says "$id" "$version" "$executable" --version ;;
  esac
done
says node v24 node --version
says git "git version" git --version
says tmux tmux tmux -V
says keeper orrery-keeper orrery-keeper version

cat > "$HOME/page.html" <<'PAGE'
<!doctype html><title>t</title><body><script>document.body.textContent = 6 * 7</script>
PAGE
says chromium "<body>42" chromium --headless --user-data-dir="$HOME/chromium" --dump-dom "file://$HOME/page.html"

tmux -L prove new-session -d -s one 'sleep 60'
says tmux-session one tmux -L prove list-sessions
tmux -L prove kill-server

if [ "$(id -u)" -ne 0 ]; then
  if (: > /usr/bin/orrery-test) 2>/dev/null; then echo "✗ the system can be changed by agent" >&2; exit 1; fi
  found=$(find / -xdev -type f -perm /6000 2>/dev/null | head -3)
  if [ -n "$found" ]; then echo "✗ set-user-id programs: $found" >&2; exit 1; fi
fi
echo "✓ everything runs as $(id -un)"
