#!/usr/bin/env node
// The door of the command line. It is written in old syntax on purpose: a Node that is too old must still be able to
// parse this file, so that it can say which Node is needed instead of dying on a syntax error further in.
var neededMajor = 22
var neededMinor = 18
var found = process.versions.node.split('.')
var foundMajor = Number(found[0])
var foundMinor = Number(found[1])

if (foundMajor < neededMajor || (foundMajor === neededMajor && foundMinor < neededMinor)) {
  process.stderr.write(
    'reprise needs Node.js ' +
      neededMajor +
      '.' +
      neededMinor +
      ' or newer; this is v' +
      process.versions.node +
      '. Install a newer Node.js; in a project, `npm install --save-dev node@24` brings its own.\n',
  )
  process.exitCode = 2
} else {
  // A command that answers at once should start at once: compiled code is kept between runs, in the folder for temporary files.
  import('node:module').then((module) => {
    module.enableCompileCache()
    return import('../dist/cli/main.js')
  })
}
