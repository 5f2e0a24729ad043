// What an agent changes in the tests of the web client.

/** Lines of a file of the repository, before. */
export const numbers = Array.from({ length: 60 }, (_, place) => `${place + 1}\n`).join('');
/** What is done to the files: some lines, a script with a character that turns text around, a long file, one that is no text. */
export const changing = [
  "sed -i 's/^5$/five/; s/^50$/fifty/' numbers.txt",
  `printf '%s' '<script>document.title=1</script>\u202eevil' > evil.html`,
  'seq 1 4000 > long.txt',
  'head -c 70000 /dev/zero > zeros.bin',
].join('; ');
