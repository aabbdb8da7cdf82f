// prepublishOnly. A package published from this folder would not name its platform packages.
console.error("error: publish the tarballs that `npm run pack` writes into npm/, not this folder");
process.exitCode = 1;
